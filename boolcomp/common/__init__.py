"""What every room uses: errors, files, text, the user's cache, helper processes."""
