"""Response selection: one file per model, the task that trains them, the candidates' index, the runtime."""
