/** Code snippets in curl, TypeScript and Python that send exactly the same request as the page. */
import { type Body, type Call, type ChosenFile, FILE_PLACEHOLDER, FILE_PLACEHOLDER_JSON } from './call.ts';
import type { TabName } from './tabs.ts';

export const LANGUAGES = ['curl', 'TypeScript', 'Client', 'Python'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Environment variable from which snippets read the key. They never contain the key itself. */
const KEY = 'LECTERN_API_KEY';

/** Returns a snippet; `undefined` if the language has no simple form for the request. */
export function snippet(language: Language, call: Call, withKey: boolean): string | undefined {
  switch (language) {
    case 'curl':
      return curl(call, withKey);
    case 'TypeScript':
      return typescript(call, withKey);
    case 'Client':
      return client(call, withKey);
    case 'Python':
      return python(call, withKey);
  }
}

/** Quotes any text as one word for a POSIX shell. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

function curl({ tab, url, headers, body, answer }: Call, withKey: boolean): string {
  const lines = [`curl ${answer === 'stream' ? '-N ' : ''}${shellWord(url)}`];
  if (withKey) lines.push(`-H "Authorization: Bearer $${KEY}"`);
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${shellWord(`${name}: ${value}`)}`);
  if (body.kind === 'form') {
    for (const [name, value] of body.fields) lines.push(`--form-string ${shellWord(`${name}=${value}`)}`);
    lines.push(`-F ${shellWord(`file=@"${body.file.name.replace(/["\\]/g, '\\$&')}"`)}`);
    return joined(lines);
  }
  lines.push(`-H 'Content-Type: application/json'`);
  const json = JSON.stringify(body.value);
  if (!body.file) {
    const submit = joined([...lines, `--data-raw ${shellWord(json)}`]);
    return tab === 'batch' ? curlBatch(submit, url, withKey) : submit;
  }
  const [before, after] = splitAtFile(json, body.file);
  const name = shellWord(body.file.name.startsWith('-') ? `./${body.file.name}` : body.file.name);
  return [
    `{ printf %s ${shellWord(before)}`,
    `  base64 < ${name} | tr -d '\\n'`,
    `  printf %s ${shellWord(after)}; } |`,
    joined([...lines, '--data-binary @-']),
  ].join('\n');
}

/** Waits for a submitted job, and prints its output. */
function curlBatch(submit: string, url: string, withKey: boolean): string {
  const key = withKey ? ` -H "Authorization: Bearer $${KEY}"` : '';
  const job = `"${new URL(url).origin}/v1/batch/$id"`;
  return [
    `id=$(${submit.replace('curl ', 'curl -sS ')} |`,
    `  sed -E 's/.*"batch_id":"([^"]*)".*/\\1/')`,
    `while curl -sS ${job}${key} |`,
    `  grep -Eq '"status":"(${RUNNING.join('|')})"'; do sleep 1; done`,
    `curl -sS ${job.replace(/"$/, '/output"')}${key}`,
  ].join('\n');
}

/** The states of a batch job that has not ended. */
const RUNNING = ['pending', 'processing'];

const joined = (lines: readonly string[]) => lines.join(' \\\n  ');

/** Splits the JSON into the parts before and after the base64 of the file. */
function splitAtFile(json: string, { type }: ChosenFile): [string, string] {
  const at = json.indexOf(FILE_PLACEHOLDER_JSON);
  return [`${json.slice(0, at)}"data:${type};base64,`, `"${json.slice(at + FILE_PLACEHOLDER_JSON.length)}`];
}

const quoted = (text: string) => {
  const inside = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inside}'`;
};

/** Formats a value as a TypeScript literal. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  const entries = Array.isArray(value)
    ? value.map((item) => literal(item, inner))
    : Object.entries(value).map(
        ([name, item]) => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)}: ${literal(item, inner)}`,
      );
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) return open + close;
  const padding = Array.isArray(value) ? '' : ' ';
  const line = open + padding + entries.join(', ') + padding + close;
  if (line.length <= 76 && !line.includes('\n')) return line;
  return `${open}\n${entries.map((entry) => `${inner}${entry},\n`).join('')}${indent}${close}`;
}

function typescript({ tab, url, headers, body, answer }: Call, withKey: boolean): string {
  const lines: string[] = [];
  const sent: string[] = [];
  if (withKey) sent.push(`Authorization: \`Bearer \${process.env.${KEY}}\``);
  for (const [name, value] of Object.entries(headers)) sent.push(`${literalName(name)}: ${quoted(value)}`);
  let content = 'form';
  if (body.kind === 'form') {
    lines.push("import { openAsBlob } from 'node:fs';", '', 'const form = new FormData();');
    for (const [name, value] of body.fields) lines.push(`form.append(${quoted(name)}, ${quoted(value)});`);
    const { name, type } = body.file;
    lines.push(`form.append('file', await openAsBlob(${quoted(name)}, { type: ${quoted(type)} }), ${quoted(name)});`);
  } else {
    sent.push("'Content-Type': 'application/json'");
    let value = literal(body.value, '  ');
    if (body.file) {
      lines.push(
        "import { readFile } from 'node:fs/promises';",
        '',
        `const file = await readFile(${quoted(body.file.name)}, 'base64');`,
      );
      value = value.replace(quoted(FILE_PLACEHOLDER), () => `\`data:${body.file!.type};base64,\${file}\``);
    }
    content = `JSON.stringify(${value})`;
  }
  lines.push(
    `const answer = await fetch(${quoted(url)}, {`,
    "  method: 'POST',",
    '  headers: {',
    ...sent.map((line) => `    ${line},`),
    '  },',
    `  body: ${content},`,
    '});',
    'if (!answer.ok) throw new Error(await answer.text());',
  );
  if (tab === 'batch') lines.push(...typescriptBatch(url, withKey));
  else if (answer === 'stream') {
    lines.push('for await (const text of answer.body!.pipeThrough(new TextDecoderStream())) {');
    lines.push('  process.stdout.write(text);', '}');
  } else lines.push(`console.log(await answer.${answer}());`);
  return lines.join('\n');
}

function typescriptBatch(url: string, withKey: boolean): string[] {
  const init = withKey ? `, { headers: { Authorization: \`Bearer \${process.env.${KEY}}\` } }` : '';
  return [
    'let job = await answer.json();',
    `const jobUrl = \`${new URL(url).origin}/v1/batch/\${job.batch_id}\`;`,
    `while (${literal(RUNNING)}.includes(job.status)) {`,
    '  await new Promise((resolve) => setTimeout(resolve, 1000));',
    `  job = await (await fetch(jobUrl${init})).json();`,
    '}',
    `const output = await fetch(\`\${jobUrl}/output\`${init});`,
    'console.log(await output.text());',
  ];
}

const literalName = (name: string) => (/^[A-Za-z]+$/.test(name) ? name : quoted(name));

const NOT_IN_CLIENT: readonly TabName[] = ['ocr', 'crawl', 'batch', 'flow'];

/** Uses the client of this package, if the client can express the request. */
function client({ tab, url, target, options, answer, body }: Call, withKey: boolean): string | undefined {
  if (answer === 'stream' || NOT_IN_CLIENT.includes(tab) || body.kind === 'form') return undefined;
  const { origin } = new URL(url);
  const where = { read: { baseUrl: origin }, search: { urls: { search: origin } }, ask: { urls: { search: origin } } };
  const settings = literal(tab in where ? where[tab as keyof typeof where] : { urls: { models: origin } });
  const made = withKey ? settings.replace(/ }$/, `, apiKey: process.env.${KEY} }`) : settings;
  const lines = ["import { createClient } from 'lectern/client';", '', `const lectern = createClient(${made});`];
  const more = Object.keys(options).length > 0 ? `, ${literal(options)}` : '';
  if (tab === 'embed' || tab === 'rerank') {
    lines.push(`console.log(await lectern.${tab}(${literal({ ...target, ...options })}));`);
    return lines.join('\n');
  }
  const subject = tab === 'read' ? ('html' in target ? literal(target) : literal(target.url)) : literal(target.q);
  const method = (tab === 'read' ? 'read' : 'search') + (answer === 'text' ? 'Text' : '');
  lines.push(`console.log(await lectern.${method}(${subject}${more}));`);
  return lines.join('\n');
}

/** Formats a value as a Python literal. */
function pythonLiteral(value: unknown, indent = ''): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  // Python understands JSON escapes, except surrogate pairs, which would result in two characters.
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object') return String(value);
  const inner = `${indent}    `;
  const entries = Array.isArray(value)
    ? value.map((item) => pythonLiteral(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pythonLiteral(item, inner)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const line = open + entries.join(', ') + close;
  if (line.length <= 76) return line;
  return `${open}\n${entries.map((entry) => `${inner}${entry},\n`).join('')}${indent}${close}`;
}

function python({ tab, url, headers, body, answer }: Call, withKey: boolean): string {
  const sent = Object.entries(headers).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  if (withKey) sent.unshift(`"Authorization": f"Bearer {os.environ['${KEY}']}"`);
  if (body.kind === 'form') return pythonForm(url, sent, body, { answer, withKey });
  sent.push('"Content-Type": "application/json"');
  const modules = [...(body.file ? ['base64'] : []), 'json', ...(withKey ? ['os'] : [])];
  const imports = [...modules, ...(tab === 'batch' ? ['time'] : [])].map((name) => `import ${name}`);
  const lines = [...imports, 'from urllib.request import Request, urlopen', ''];
  let value = pythonLiteral(body.value);
  if (body.file) {
    lines.push(
      `with open(${JSON.stringify(body.file.name)}, "rb") as opened:`,
      '    file = base64.b64encode(opened.read()).decode()',
    );
    value = value.replace(FILE_PLACEHOLDER_JSON, () => `"data:${body.file!.type};base64," + file`);
  }
  lines.push(
    'request = Request(',
    `    ${JSON.stringify(url)},`,
    `    data=json.dumps(${indented(value)}).encode(),`,
    '    headers={',
    ...sent.map((line) => `        ${line},`),
    '    },',
    ')',
    ...(tab === 'batch' ? pythonBatch(url, withKey) : pythonAnswer(answer)),
  );
  return lines.join('\n');
}

function pythonAnswer(answer: Call['answer']): string[] {
  const opened = 'with urlopen(request) as answer:';
  if (answer === 'stream') return [opened, '    for line in answer:', '        print(line.decode(), end="")'];
  return [opened, answer === 'json' ? '    print(json.load(answer))' : '    print(answer.read().decode())'];
}

function pythonBatch(url: string, withKey: boolean): string[] {
  const headers = withKey ? `, headers={"Authorization": f"Bearer {os.environ['${KEY}']}"}` : '';
  return [
    'with urlopen(request) as answer:',
    '    job = json.load(answer)',
    `job_url = "${new URL(url).origin}/v1/batch/" + job["batch_id"]`,
    `while job["status"] in ${pythonLiteral(RUNNING)}:`,
    '    time.sleep(1)',
    `    with urlopen(Request(job_url${headers})) as answer:`,
    '        job = json.load(answer)',
    `with urlopen(Request(job_url + "/output"${headers})) as answer:`,
    '    print(answer.read().decode())',
  ];
}

const indented = (text: string) => text.replaceAll('\n', '\n    ');

type FormBody = Extract<Body, { kind: 'form' }>;

/** The form is written by hand, because Python's standard library has no multipart encoder. */
function pythonForm(
  url: string,
  sent: readonly string[],
  { fields, file: { name, type } }: FormBody,
  { answer, withKey }: { answer: Call['answer']; withKey: boolean },
): string {
  const filename = name.replaceAll('\\', '\\\\').replaceAll('"', '%22');
  const head = `Content-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: ${type}\r\n\r\n`;
  return [
    ...(answer === 'json' ? ['import json'] : []),
    ...(withKey ? ['import os'] : []),
    'import uuid',
    'from urllib.request import Request, urlopen',
    '',
    'boundary = uuid.uuid4().hex',
    'body = b""',
    ...(fields.length > 0
      ? [
          `for name, value in ${pythonLiteral(fields)}:`,
          '    body += f\'--{boundary}\\r\\nContent-Disposition: form-data; name="{name}"\\r\\n\\r\\n{value}\\r\\n\'.encode()',
        ]
      : []),
    `with open(${JSON.stringify(name)}, "rb") as file:`,
    `    body += f"--{boundary}\\r\\n".encode() + ${JSON.stringify(head)}.encode()`,
    '    body += file.read() + f"\\r\\n--{boundary}--\\r\\n".encode()',
    'request = Request(',
    `    ${JSON.stringify(url)},`,
    '    data=body,',
    '    headers={',
    ...sent.map((line) => `        ${line},`),
    '        "Content-Type": f"multipart/form-data; boundary={boundary}",',
    '    },',
    ')',
    ...pythonAnswer(answer),
  ].join('\n');
}
