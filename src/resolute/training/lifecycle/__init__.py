"""What runs inside a trial that `resolute.Model` made: the trainer as it is, and what it calls to record and export."""
