"""What concerns the package and not the code: versions, licences, an installation that works."""
