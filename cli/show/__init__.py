"""What the terminal shows: rows, tables, live progress. Reads records; decides nothing."""
