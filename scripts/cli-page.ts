/** Generates the command-line reference from the commands. */
import type { Command, Option } from 'commander';
import { EXIT_CODES } from '#cli/exit-codes.ts';
import { Switch } from '#cli/flags.ts';
import { createFullProgram } from '#cli/program.ts';
import { quietContext } from '../test/support/quiet-context.ts';

export async function cliParts(): Promise<string> {
  const program = await createFullProgram({ ...quietContext, version: '' });
  const groups = [...new Set(program.commands.map((command) => command.helpGroup()!))];
  const parts = groups.flatMap((group) => [
    `## ${group.replace(/:$/, '')}`,
    ...program.commands
      .filter((command) => command.helpGroup() === group)
      .flatMap((command) => commandParts(command, 3)),
  ]);
  return [...parts, '## Exit codes', exitTable()].join('\n\n');
}

function commandParts(command: Command, depth: number): string[] {
  const options = command.options.filter(({ hidden }) => !hidden);
  const args = command.registeredArguments;
  return [
    `${'#'.repeat(depth)} ${pathOf(command)}`,
    command.description(),
    `\`\`\`text\n${pathOf(command)} ${command.usage()}\n\`\`\``,
    ...(args.length > 0
      ? [
          table(
            ['Argument', 'Meaning'],
            args.map((arg) => [
              `\`${arg.name()}\``,
              [arg.description, arg.argChoices && `One of ${arg.argChoices.join(', ')}.`].filter(Boolean).join(' '),
            ]),
          ),
        ]
      : []),
    ...(options.length > 0
      ? [
          table(
            ['Option', 'Meaning'],
            options.map((option) => [`\`${termOf(option)}\``, meaningOf(option)]),
          ),
        ]
      : []),
    ...command.commands.flatMap((inner) => commandParts(inner, depth + 1)),
  ];
}

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

const termOf = (option: Option): string => (option instanceof Switch ? option.term : option.flags);

function meaningOf({ description, argChoices, defaultValue, defaultValueDescription }: Option): string {
  const standard = defaultValueDescription ?? (defaultValue === undefined ? undefined : String(defaultValue));
  return [description, argChoices && `One of ${argChoices.join(', ')}.`, standard && `Default: ${standard}.`]
    .filter(Boolean)
    .join(' ');
}

const exitTable = (): string =>
  table(
    ['Code', 'Meaning'],
    Object.values(EXIT_CODES).map(({ code, meaning }) => [String(code), meaning]),
  );

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => '---'), ...rows]
    .map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
