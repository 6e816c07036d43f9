"""What optimises: the package's methods, their variants, and references from outside."""
