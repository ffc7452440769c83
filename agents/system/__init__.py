"""What has nothing to do with learning: files, locks, errors, settings, the screen."""
