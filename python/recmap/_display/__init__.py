"""What people are shown: tables, pictures, short texts and progress."""
