/**
 * Servers for a whole test run. Each is started when a test first needs it, and stopped at the end of the run. Test
 * files run in separate processes, so they request the servers through a loopback URL that the run provides.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import type { S3Service, Service } from './start-services.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * Base URL. `/postgres` and `/redis` return the URL of an empty database, `/s3` the options of an empty bucket, or
     * nothing; `/program` returns the path of the program.
     */
    services: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const services = {
    postgres: onDemand(async () => (await import('./start-services.ts')).startPostgres(), 'PostgreSQL'),
    redis: onDemand(async () => (await import('./start-services.ts')).startRedis(), 'Redis'),
    s3: onDemand(async () => (await import('./start-services.ts')).startS3(), 'OpenStack Swift'),
  };
  let databases = 0;
  let program: Promise<string> | undefined;
  const answers: Record<string, () => Promise<string | undefined>> = {
    '/postgres': async () => {
      const service = await services.postgres.get();
      databases += 1;
      return service && makeDatabase(service.url, `test_${databases}`);
    },
    '/program': () => {
      program ??= import('./program-build.ts').then(({ buildProgram }) => buildProgram());
      return program;
    },
    '/redis': async () => {
      const service = await services.redis.get();
      databases += 1;
      return service && `${service.url}/${databases}`;
    },
    '/s3': async () => {
      const service: S3Service | undefined = await services.s3.get();
      databases += 1;
      return service && JSON.stringify(await service.makeBucket(`test-${databases}`));
    },
  };
  const server = createServer(async (request, response) => {
    try {
      response.end((await answers[request.url ?? '']?.()) ?? '');
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  project.provide('services', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    server.closeAllConnections();
    await Promise.all(Object.values(services).map((service) => service.close()));
  };
}

/** Starts the service at most once. Warns once if it is not installed. */
function onDemand<Found extends Service>(start: () => Promise<Found | undefined>, name: string) {
  let starting: Promise<Found | undefined> | undefined;
  return {
    get() {
      starting ??= start().then((service) => {
        if (!service) console.warn(`${name} is not installed: tests that need it are skipped`);
        return service;
      });
      return starting;
    },
    async close() {
      await (await starting?.catch(() => undefined))?.close();
    },
  };
}

async function makeDatabase(url: string, name: string): Promise<string> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name}`);
  } finally {
    await client.end();
  }
  return new URL(name, url).href;
}
