"""Reading YAML: positions of everything that was read, and problems with line, column and a suggestion."""
