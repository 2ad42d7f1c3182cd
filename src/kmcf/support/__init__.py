"""What any room may need and none owns: warnings, optional dependencies, safe files, notebook tables, search spaces."""
