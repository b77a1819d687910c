/** The order of the test files: the slowest files start first, so that none of them runs alone at the end. */
import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Projects in the order in which they run. The files of a project stay together, because they share workers. */
const PROJECTS = ['own', 'shared', 'quick'];

/** Files that took 20 seconds or longer. */
export const LONG_FILES: readonly string[] = [
  'test/api/reading.test.ts',
  'test/cli/read.test.ts',
  'test/api/http-answers.test.ts',
  'test/egress/egress.test.ts',
  'src/reader/engines/browser/engine.test.ts',
  'test/playground.test.ts',
  'test/api/flow-hostile.test.ts',
  'src/reader/engines/choose.test.ts',
  'src/ocr/ocr.test.ts',
  'test/api/hidden.test.ts',
  'src/batch/redis.test.ts',
  'src/reader/explanation-pages.test.ts',
  'src/crawl/open.test.ts',
  'src/reader/engines/browser/options.test.ts',
  'test/seeds/reader-browser.test.ts',
  'test/api/job-kill.test.ts',
  'src/html/parse.test.ts',
  'src/accounts/accounts.test.ts',
  'test/api/chat-completions.test.ts',
  'src/reader/engines/browser/hostile.test.ts',
  'test/api/mcp.test.ts',
  'src/models/onnx/backends.test.ts',
  'test/api/mcp-stdio.test.ts',
  'test/playground-snippets.test.ts',
  'test/documentation.test.ts',
  'test/api/process.test.ts',
  'test/api/inherited-names.test.ts',
  'src/flow/process/modes.test.ts',
  'test/clients/generated-clients.test.ts',
  'test/api/openapi.test.ts',
  'src/models/hub/hub.test.ts',
  'src/batch/kill.test.ts',
];

const RANKS: ReadonlyMap<string, number> = new Map(LONG_FILES.map((file, at) => [file, at]));

const rankOf = ({ moduleId, project }: TestSpecification): readonly [project: number, file: number] => [
  PROJECTS.indexOf(project.name),
  RANKS.get(path.relative(project.config.root, moduleId).replaceAll('\\', '/')) ?? LONG_FILES.length,
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranked = (await super.sort(files)).map((file) => ({ file, rank: rankOf(file) }));
    ranked.sort((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1]);
    return ranked.map(({ file }) => file);
  }
}
