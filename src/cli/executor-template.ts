/** The files that `lectern executor new` writes: an executor, its test, its YAML and a flow that uses it. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Language of the executor: TypeScript, or JavaScript with types in comments for Node versions without TypeScript. */
export type TemplateLanguage = 'ts' | 'js';

const NAME = /^[A-Z]\w*$/;

/** Returns the files written, the executor first. Throws if the name is not a class name or the folder is not empty. */
export function writeTemplate(name: string, folder: string, version: string, language: TemplateLanguage): string[] {
  if (!NAME.test(name)) throw new Error(`${name} is not a class name: use letters and digits, starting with a capital`);
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);
  mkdirSync(folder, { recursive: true });
  return Object.entries(filesOf(name, version, language)).map(([file, text]) => {
    const place = path.join(folder, file);
    writeFileSync(place, text);
    return place;
  });
}

function filesOf(name: string, version: string, language: TemplateLanguage): Record<string, string> {
  return {
    [`executor.${language}`]: language === 'ts' ? typescript(name) : javascript(name),
    [`executor.test.${language}`]: test(name, language),
    'config.yml': config(name, language),
    'flow.yml': flow(name),
    'package.json': packageJson(name, version),
    'tsconfig.json': TSCONFIG,
  };
}

const typescript = (name: string) => `import { type Call, Executor, requests } from 'lectern/flow';

interface Options {
  /** Appended to every text. */
  suffix?: string;
}

export class ${name} extends Executor<Options> {
  static override readonly requests = requests<${name}>({ '/shout': 'shout' });

  /** Changes the documents in place; the changed documents go on to the next executor. */
  shout({ docs }: Call): void {
    for (const doc of docs) doc.text = doc.text.toUpperCase() + (this.options.suffix ?? '');
  }
}
`;

const javascript = (name: string) => `// @ts-check
import { Executor } from 'lectern/flow';

/**
 * @typedef {object} Options
 * @property {string} [suffix] Appended to every text.
 */

/** @extends {Executor<Options>} */
export class ${name} extends Executor {
  /** @type {import('lectern/flow').Bindings} */
  static requests = { '/shout': 'shout' };

  /**
   * Changes the documents in place; the changed documents go on to the next executor.
   * @param {import('lectern/flow').Call} call
   */
  shout({ docs }) {
    for (const doc of docs) doc.text = doc.text.toUpperCase() + (this.options.suffix ?? '');
  }
}
`;

const test = (name: string, language: TemplateLanguage) => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFlow, createRequest, defineFlow, Document } from 'lectern/flow';
import { ${name} } from './executor.${language}';

test('shouts', async () => {
  const definition = defineFlow().add({ uses: ${name}, usesWith: { suffix: '!' } }).definition();
  const flow = createFlow(definition);
  await flow.start();
  try {
    const docs = [new Document({ text: 'hello' })];
    const answer = await flow.handle(createRequest({ endpoint: '/shout', docs }));
    assert.equal(answer.docs[0]?.text, 'HELLO!');
  } finally {
    await flow.close();
  }
});
`;

const config = (name: string, language: TemplateLanguage) => `jtype: ${name}
with:
  suffix: '!'
metas:
  name: ${name}
modules:
  - executor.${language}
`;

/** Names in flows must be identifiers, and class names are identifiers. */
const flow = (name: string) => `jtype: Flow
version: '1'
with:
  protocol: [http, grpc]
  port: [8080, 8081]
  host: 127.0.0.1
executors:
  - name: ${name.charAt(0).toLowerCase()}${name.slice(1)}
    uses: config.yml
`;

const packageJson = (name: string, version: string) => `${JSON.stringify(
  {
    name: name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '-').toLowerCase(),
    private: true,
    type: 'module',
    scripts: {
      start: 'lectern executor --uses config.yml --port 8100',
      flow: 'lectern flow --uses flow.yml',
      test: 'node --test',
    },
    dependencies: { lectern: `^${version}` },
  },
  null,
  2,
)}
`;

const TSCONFIG = `${JSON.stringify(
  {
    compilerOptions: {
      target: 'es2023',
      module: 'nodenext',
      strict: true,
      noEmit: true,
      checkJs: true,
      allowJs: true,
      erasableSyntaxOnly: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
    },
  },
  null,
  2,
)}
`;
