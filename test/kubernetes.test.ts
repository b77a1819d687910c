/** The Kubernetes manifest matches the server: ports, probes and settings. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { HEALTH_PATHS } from '#api/health.ts';
import { environmentName, readConfig, SETTING_NAMES } from '#config.ts';
import { kubernetesViolations } from './support/manifest-schemas.ts';

const file = path.join(import.meta.dirname, '../examples/kubernetes/lectern.yaml');
const [deployment, service] = parseAllDocuments(readFileSync(file, 'utf8')).map((document) => {
  expect(document.errors).toEqual([]);
  return document.toJS();
});
const pod = deployment.spec.template.spec;
const [container] = pod.containers;
const env = Object.fromEntries(container.env.map(({ name, value }: { name: string; value?: string }) => [name, value]));

it('matches the schema of Kubernetes', async () => {
  expect(await kubernetesViolations([deployment, service])).toEqual([]);
});

it('opens the ports that the server listens on', () => {
  const { readerPort, searchPort, modelPort, flowPort, flowGrpcPort } = readConfig({});
  const ports: { containerPort: number; name: string }[] = container.ports;
  expect(ports.map(({ containerPort }) => containerPort)).toEqual([
    readerPort,
    searchPort,
    modelPort,
    flowPort,
    flowGrpcPort,
    Number(env.LECTERN_METRICS_PORT),
  ]);
  const named = new Map(ports.map(({ name, containerPort }) => [name, containerPort]));
  for (const { port, targetPort } of service.spec.ports) expect(named.get(targetPort)).toBe(port);
});

it('uses existing probes, and waits for requests in flight', () => {
  for (const probe of [container.livenessProbe, container.readinessProbe])
    expect(HEALTH_PATHS).toContain(probe.httpGet.path);
  expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(readConfig({}).drainMs);
});

it('sets only known settings', () => {
  expect(Object.keys(env).filter((name) => !SETTING_NAMES.map(environmentName).includes(name))).toEqual([]);
});
