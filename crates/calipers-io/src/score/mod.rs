//! Score, label and optimum files in text forms.
