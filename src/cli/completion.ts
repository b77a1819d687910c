/** `lectern completion`: shell completion scripts, generated from the commands. */
import type { Command, Option } from 'commander';
import { Argument } from 'commander';
import type { CliContext } from './context.ts';
import { FlagCommand } from './flags.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function completionCommand(context: CliContext): FlagCommand {
  const command = new FlagCommand('completion')
    .description('Print a shell completion script.')
    .addArgument(new Argument('<shell>', 'shell to complete in').choices(SHELLS))
    .addHelpText('after', EXAMPLES)
    .action(async (shell: Shell) => {
      // Imported lazily: the program imports this command, so a static import would be circular.
      const { createFullProgram } = await import('./program.ts');
      context.print(WRITERS[shell](completionNodes(await createFullProgram(context))).trimEnd());
    });
  return command;
}

const EXAMPLES = `
Examples:
  lectern completion bash > ~/.local/share/bash-completion/completions/lectern
  lectern completion zsh > ~/.zfunc/_lectern        (with ~/.zfunc in fpath)
  lectern completion fish > ~/.config/fish/completions/lectern.fish`;

/** The words that can follow a command. */
interface CompletionNode {
  /** `keys mint`; empty for the program. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly flags: readonly Flag[];
  /** Values of the first argument, if they are a fixed list. */
  readonly choices: readonly string[];
}

interface Word {
  readonly name: string;
  readonly meaning: string;
}

interface Flag extends Word {
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

function completionNodes(command: Command, path = ''): CompletionNode[] {
  const commands = command.commands.map((one) => ({ name: one.name(), meaning: firstSentence(one.description()) }));
  const flags = command.options.filter(({ hidden, long }) => !hidden && long).map(flagOf);
  const place = {
    path,
    commands,
    flags: [...flags, { name: '--help', meaning: 'Show all options.', takesValue: false, choices: [] }],
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  };
  return [place, ...command.commands.flatMap((one) => completionNodes(one, `${path} ${one.name()}`.trim()))];
}

const flagOf = ({ long, description, required, argChoices }: Option): Flag => ({
  name: long!,
  meaning: firstSentence(description),
  takesValue: required,
  choices: argChoices ?? [],
});

const firstSentence = (text: string): string => /^.*?(?:\. |$)/.exec(text)![0].trim().replace(/\.$/, '').slice(0, 100);

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const names = (words: readonly Word[]): string => words.map(({ name }) => name).join(' ');

/** One `case` branch for each command: its subcommands and flags, and the values of the flags. */
const bashCases = (places: readonly CompletionNode[]): string =>
  places
    .map(({ path, commands, flags, choices }) => {
      const values = flags
        .filter((flag) => flag.takesValue)
        .map((flag) => `          ${flag.name}) values=${quoted(flag.choices.join(' ') || '@files')} ;;`);
      return [
        `      ${quoted(path)})`,
        `        commands=${quoted(names(commands))}`,
        `        flags=${quoted(names(flags))}`,
        `        choices=${quoted(choices.join(' '))}`,
        ...(values.length > 0 ? ['        case "$previous" in', ...values, '        esac'] : []),
        '        ;;',
      ].join('\n');
    })
    .join('\n');

/** Sets `commands`, `flags`, `choices` and `values` for the command in `path`. */
const bashTable = (places: readonly CompletionNode[]): string => `  _lectern_table() {
    commands= flags= choices= values=
    case "$path" in
${bashCases(places)}
    esac
  }`;

const bashScript = (places: readonly CompletionNode[]): string => `# Completes lectern in bash.
_lectern() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous= path= commands flags choices values word at
${bashTable(places)}
  _lectern_table
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case " $commands " in *" $word "*) path="\${path:+$path }$word"; _lectern_table ;; esac
  done
  previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  _lectern_table
  COMPREPLY=()
  if [[ "$values" == '@files' ]]; then COMPREPLY=($(compgen -f -- "$current"))
  elif [[ -n "$values" ]]; then COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [[ "$current" == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [[ -n "$commands$choices" ]]; then COMPREPLY=($(compgen -W "$commands $choices" -- "$current"))
  else COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _lectern lectern
`;

const described = (words: readonly Word[]): string =>
  words.map(({ name, meaning }) => quoted(`${name.replaceAll(':', '\\:')}:${meaning}`)).join(' ');

const zshCases = (places: readonly CompletionNode[]): string =>
  places
    .map(({ path, commands, flags, choices }) => {
      const values = flags
        .filter((flag) => flag.takesValue)
        .map((flag) => `        ${flag.name}) values=(${flag.choices.map(quoted).join(' ') || "'@files'"}) ;;`);
      return [
        `    ${quoted(path)})`,
        `      commands=(${described(commands)})`,
        `      flags=(${described(flags)})`,
        `      choices=(${choices.map(quoted).join(' ')})`,
        ...(values.length > 0 ? ['      case "$previous" in', ...values, '      esac'] : []),
        '      ;;',
      ].join('\n');
    })
    .join('\n');

const zshScript = (places: readonly CompletionNode[]): string => `#compdef lectern
# Completes lectern in zsh.
_lectern_table() {
  commands=() flags=() choices=() values=()
  case "$lectern_path" in
${zshCases(places)}
  esac
}
_lectern() {
  local lectern_path= previous= word
  local -a commands flags choices values
  _lectern_table
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if (( \${commands[(I)\${(b)word}:*]} )); then
      lectern_path="\${lectern_path:+$lectern_path }$word"
      _lectern_table
    fi
  done
  previous="\${words[CURRENT-1]}"
  _lectern_table
  if [[ "\${values[1]}" == '@files' ]]; then _files
  elif (( \${#values} )); then compadd -- $values
  elif [[ "\${words[CURRENT]}" == -* ]]; then _describe -o option flags
  elif (( \${#choices} )); then compadd -- $choices
  elif (( \${#commands} )); then _describe command commands
  else _files
  fi
}
if [[ "\${funcstack[1]}" == _lectern ]]; then _lectern "$@"; else compdef _lectern lectern; fi
`;

const fishScript = (places: readonly CompletionNode[]): string => {
  const isCommand = [...new Set(places.flatMap(({ commands }) => commands.map(({ name }) => name)))].join(' ');
  const lines = places.flatMap(({ path, commands, flags, choices }) => {
    const here = `complete -c lectern -n '__lectern_is ${quoted(path).replaceAll("'", '"')}'`;
    return [
      ...commands.map(({ name, meaning }) => `${here} -f -a ${name} -d ${fishQuoted(meaning)}`),
      ...choices.map((word) => `${here} -f -a ${word}`),
      ...flags.map(({ name, meaning, takesValue, choices: values }) => {
        const value = values.length > 0 ? ` -x -a ${fishQuoted(values.join(' '))}` : takesValue ? ' -r' : '';
        return `${here} -l ${name.slice(2)}${value} -d ${fishQuoted(meaning)}`;
      }),
    ];
  });
  return `# Completes lectern in fish.
function __lectern_is
    set -l path
    for word in (commandline -opc)[2..]
        contains -- $word ${isCommand}; and set -a path $word
    end
    test "$path" = "$argv"
end
${lines.join('\n')}
`;
};

const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const WRITERS: Readonly<Record<Shell, (places: readonly CompletionNode[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};
