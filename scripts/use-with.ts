/** The pages of programs that work with the compat API, from the rows that the tests run. */
import type { RequestRow } from '../test/compat/use-with/row.ts';
import { REQUEST_ROWS, USE_WITH } from '../test/compat/use-with/rows.ts';

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
    const name = settingText(setting);
    const calls = rows.map(({ call }) => call).join(', ');
    return [program, name, `\`${value}\``, calls, byClient ? 'the client' : 'its request'];
  });
}

/** A name as code; a description as it is. */
const settingText = (setting: string) => (/^(?:[A-Z][A-Z_]+|api\w+)$/.test(setting) ? `\`${setting}\`` : setting);

/** Programs with a page of their own, besides those that use MCP (docs/guide/use-with/mcp-clients.md). */
export const USE_WITH_PROGRAMS: Readonly<Record<string, string>> = {
  'open-webui': 'Open WebUI',
  librechat: 'LibreChat',
  dify: 'Dify',
  n8n: 'n8n',
  anythingllm: 'AnythingLLM',
  langchain: 'LangChain',
  llamaindex: 'LlamaIndex',
  'vercel-ai-sdk': 'Vercel AI SDK',
};

/** The rows of the page of a program: its package if it has several, and the request that the tests send. */
export function programRows(program: string): string[][] {
  const rows = USE_WITH.filter((row) => familyOf(row) === program);
  return rows.map((row) => {
    const request = REQUEST_ROWS.find(({ program, setting, call }) => {
      return program === row.program && setting === row.setting && call === row.call;
    });
    const shape = request ? requestLine(request) : `the client ${packageOf(row)}`.trim();
    return [settingText(row.setting), `\`${row.value}\``, row.call, shape];
  });
}

/** `LangChain (@langchain/community)` belongs to LangChain. */
const familyOf = ({ program }: Pick<Row, 'program'>) => program.replace(/ \(.*\)$/, '');
const packageOf = ({ program }: Pick<Row, 'program'>) => {
  const [, name] = /\((.*)\)$/.exec(program) ?? [];
  return name ? `\`${name}\`` : '';
};

/** The request in the form in which the program sends it, without its parameters. */
function requestLine({ request }: RequestRow): string {
  const { method = 'GET', path } = request({ key: 'KEY', page: 'https://example.com/' });
  return `\`${method} ${path.replace(/\?.*$/, '')}\``;
}
