"""What touches the machine: measurements of real code. Nothing else in `primer` runs a clock."""
