/** Creates the model API and the compat API. Loaded when the first request for one of them arrives. */
import { writeModelError } from '#api/envelopes/model.ts';
import { modelHealthRoutes } from '#api/models/health.ts';
import { modelHostRoutes, NATIVE_ROUTES } from '#api/models/host.ts';
import { serveFrontPage } from '#api/pages/front-page.ts';
import { compatRoutes, dialectOfPath } from '#compat/compat.ts';
import { MODEL_DIALECTS } from '#compat/dialects.ts';
import { createErrorWriter } from '#compat/errors.ts';
import { closeWebSockets, upgradeHandler } from '#compat/upgrade.ts';
import type { OpenedFace } from '#http/lazy-face.ts';
import type { Face } from '#http/server.ts';
import {
  COMPAT_SERVER_OPTIONS,
  commonOptions,
  createFace,
  type FaceContext,
  frontPageOf,
  modelServerOptions,
} from './face-servers.ts';
import { formatUrl } from './listen.ts';

export async function openModelFace(context: FaceContext): Promise<OpenedFace> {
  const { config, modules, tracing, health } = context;
  const { modelHost, completions, accessHooks, batch, classify, plans, network } = modules;
  const options = { ...modelServerOptions(config), writeError: createErrorWriter(dialectOfPath, writeModelError) };
  const model = await createFace('model', context, options, async (face) => {
    serveFrontPage(face, frontPageOf(context, 'model'));
    // The dialects come first, so that this host does not refuse their methods of its own paths.
    const dialects = { dialects: MODEL_DIALECTS, taken: NATIVE_ROUTES, face: 'model' } as const;
    await compatRoutes(face, { ...compatOptions(context), ...dialects });
    // In a scope of its own, because it parses bodies in another way.
    await face.register(async (scope) => {
      const own = scope as Face;
      modelHealthRoutes(own, {
        models: modelHost.models,
        draining: () => !health.ready(),
        fullDisks: health.fullDisks,
      });
      modelHostRoutes(own, {
        ...modelHost,
        completions,
        accessHooks,
        tracing,
        prices: config.modelPrices,
        batch: { batch, guard: network.guard },
        classify: { classify, plans },
      });
    });
  });
  return { face: model };
}

function compatOptions(context: FaceContext) {
  const { config, modules, tracing, ownHosts, portOf } = context;
  const { search, modelHost, completions, batch, crawl, network, reader, models, accounts, version } = modules;
  return {
    ...commonOptions(context),
    usage: accounts.usage,
    ...{ reader, search, modelHost, completions, batch, crawls: crawl, version, tracing },
    guard: network.guard,
    prices: config.modelPrices,
    hasLanguageModel: models.readerlm !== undefined,
    ...{ dataDir: config.dataDir, databaseUrl: config.databaseUrl, maxBodyBytes: config.maxBodyBytes },
    ...{ state: modules.state, log: modules.log },
    ownHosts: () => ownHosts,
    readerUrl: () => config.publicUrl?.replace(/\/$/, '') ?? formatUrl(config.host, portOf('compat')),
    searchKeyless: config.auth === 'off' ? ('limited' as const) : config.searchKeyless,
    keylessDialects: config.compatKeyless,
  };
}

export async function openCompatFace(context: FaceContext): Promise<OpenedFace> {
  const options = { ...COMPAT_SERVER_OPTIONS, writeError: createErrorWriter(dialectOfPath) };
  const compat = await createFace('compat', context, options, (face) =>
    compatRoutes(face, { ...compatOptions(context), face: 'compat' }),
  );
  return { face: compat, upgrade: upgradeHandler(compat), beforeClose: () => closeWebSockets(compat) };
}
