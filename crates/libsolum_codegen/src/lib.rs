//! libsolum_codegen
