"""Finding a Java runtime, and making Spark start quickly on it."""
