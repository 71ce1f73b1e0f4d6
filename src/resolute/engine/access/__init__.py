"""Who may come in, and where their work is kept: users, sessions, workspaces."""
