"""Pictures of problems, mechanisms and what they come to. matplotlib is loaded here only, when a picture is drawn."""
