//! Level Zero calls, through the loader's tracing layer.
