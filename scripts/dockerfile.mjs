// Reads the instructions of a Dockerfile that scripts/check-image.mjs carries out.

const KNOWN = ['ARG', 'ENV', 'WORKDIR', 'COPY', 'RUN', 'USER', 'VOLUME', 'EXPOSE', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD'];

export function stagesOf(text) {
  const stages = [];
  for (const line of logicalLines(text)) {
    const [, name = '', rest = ''] = /^(\w+)\s+([\s\S]*)$/.exec(line) ?? [];
    const from = name === 'FROM' ? /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(rest) : undefined;
    if (from) stages.push({ base: from[1], name: from[2], instructions: [] });
    else if (!KNOWN.includes(name) || stages.length === 0)
      throw new Error(`unknown instruction of a Dockerfile: ${line}`);
    else stages.at(-1).instructions.push({ name, text: rest });
  }
  return stages;
}

/** Lines without comments, joined where they end with a backslash. */
const logicalLines = (text) =>
  text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

export function copyOf(text) {
  const words = text.split(/\s+/);
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const paths = words.filter((word) => !word.startsWith('--'));
  return { from, sources: paths.slice(0, -1), target: paths.at(-1) };
}

export const variablesOf = (text) =>
  Object.fromEntries(
    text.split(/\s+/).flatMap((word) => (word.includes('=') ? [word.split(/=(.*)/s).slice(0, 2)] : [])),
  );
