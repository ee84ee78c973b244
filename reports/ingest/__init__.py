"""Reading the records: explicit schemas, and a quarantine for lines that do not fit."""
