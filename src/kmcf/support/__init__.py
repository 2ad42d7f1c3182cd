"""What any room may need and none owns: warnings, optional dependencies, safe files, tables, JSON, search spaces."""
