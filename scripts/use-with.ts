/** The page of programs that work with the compat API, from the rows that the tests run. */
import { USE_WITH } from '../test/compat/use-with/rows.ts';

type Row = (typeof USE_WITH)[number];

/** The rows of the table: one for each program and setting, with all calls that work. */
export function useWithRows(): string[][] {
  const groups = new Map<string, Row[]>();
  for (const row of USE_WITH) {
    const group = [row.program, row.setting, row.value].join('\n');
    groups.set(group, [...(groups.get(group) ?? []), row]);
  }
  return [...groups.values()].map((rows) => {
    const { program, setting, value, byClient } = rows[0]!;
    const name = /^(?:[A-Z][A-Z_]+|api\w+)$/.test(setting) ? `\`${setting}\`` : setting;
    const calls = rows.map(({ call }) => call).join(', ');
    return [program, name, `\`${value}\``, calls, byClient ? 'the client' : 'its request'];
  });
}
