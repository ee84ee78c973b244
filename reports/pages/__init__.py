"""The page and the Markdown table: what the tables say, in words and pictures that need nothing but a browser."""
