"""`tessera completion`: words for the Tab key of bash, zsh and fish."""
from tessera.commands.words import all_commands
from tessera.errors import UsageError, nearest

BASH = """# tessera: completion for bash. Use it: source <(tessera completion bash)
_tessera() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{names}" -- "$word"))
    return
  fi
  if [[ $word == -* ]]; then
    case $command in
{cases}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _tessera tessera ./tessera
"""
ZSH = """#compdef tessera
# tessera: completion for zsh. Use it: source <(tessera completion zsh)
autoload -U +X bashcompinit && bashcompinit
{bash}"""


def add(subparsers):
    parser = subparsers.add_parser("completion", help="Print the completion of a shell: bash, zsh or fish",
                                   description="Prints a script. bash, zsh: source <(tessera completion bash); "
                                               "fish: tessera completion fish | source")
    parser.add_argument("shell", metavar="SHELL", help="bash, zsh or fish")
    parser.set_defaults(run=run)


def run(arguments):
    makers = {"bash": bash, "zsh": lambda commands: ZSH.format(bash=bash(commands)), "fish": fish}
    if arguments.shell not in makers:
        raise UsageError(f"there is no completion for '{arguments.shell}'" + nearest(arguments.shell, makers))
    print(makers[arguments.shell](all_commands()), end="")
    return 0


def _options(command):
    return [name for names, _, _ in command.options for name in names]


def bash(commands):
    cases = "\n".join(f'      {command.name}) words="{" ".join(_options(command))}" ;;' for command in commands)
    return BASH.format(names=" ".join(command.name for command in commands), cases=cases)


def fish(commands):
    quoted = lambda text: "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"  # noqa: E731
    lines = ["# tessera: completion for fish. Use it: tessera completion fish | source"]
    for command in commands:
        lines.append(f"complete -c tessera -n __fish_use_subcommand -f -a {command.name} -d {quoted(command.summary)}")
        for names, _, text in command.options:
            flags = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in names)
            lines.append(f"complete -c tessera -n '__fish_seen_subcommand_from {command.name}' {flags} -d {quoted(text)}")
    return "\n".join(lines) + "\n"
