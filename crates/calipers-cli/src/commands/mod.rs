//! The subcommands.

pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod explain;
pub(crate) mod families;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod plot;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod verify;

/// An enum of subcommands that all run alike.
macro_rules! subcommands {
    ($(#[$attribute:meta])* $name:ident: $($(#[$of:meta])* $variant:ident($arguments:ty)),* $(,)?) => {
        $(#[$attribute])*
        #[derive(clap::Subcommand)]
        pub(crate) enum $name {
            $($(#[$of])* $variant($arguments)),*
        }

        impl $name {
            pub(crate) fn run(self) -> calipers::Result<crate::Outcome> {
                match self {
                    $(Self::$variant(command) => command.run()),*
                }
            }
        }
    };
}
pub(crate) use subcommands;

subcommands! {
    /// Every subcommand, in the order of the help.
    Command:
    Demo(demo::Demo),
    #[command(flatten)]
    Family(families::Family),
    Merge(merge::Merge),
    Show(show::Show),
    Plot(plot::Plot),
    Compare(compare::Compare),
    Verify(verify::Verify),
    Serve(serve::Serve),
    List(list::List),
    Explain(explain::Explain),
    Completions(completions::Completions),
    Man(man::Man),
}
