/**
 * The interactive description of the APIs: Swagger UI over the OpenAPI document of the chosen API. The page loads nothing
 * from other hosts than those of this server.
 */
import SwaggerUI, { type SwaggerUiPlugin } from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import type { DescribedApi } from '../../src/api/pages/playground-types.ts';
import { KEY_STORE } from '../src/key-store.ts';

const page = document.getElementById('page')!;
const choice = document.querySelector<HTMLSelectElement>('#api')!;
const documentLink = document.querySelector<HTMLAnchorElement>('#document')!;
const apis: readonly DescribedApi[] = JSON.parse(page.dataset.apis!);
/** The query parameter with the name of the chosen API, so that the page can be linked to. */
const CHOSEN = 'api';

choice.append(...apis.map(({ name, title }) => new Option(title, name)));
const wanted = new URLSearchParams(location.search).get(CHOSEN);
choice.value = apis.some(({ name }) => name === wanted) ? wanted! : apis[0]!.name;
choice.addEventListener('change', () => {
  history.replaceState(null, '', `?${new URLSearchParams({ [CHOSEN]: choice.value })}`);
  void show();
});
const darkness = matchMedia('(prefers-color-scheme: dark)');
const setDarkness = () => document.documentElement.classList.toggle('dark-mode', darkness.matches);
darkness.addEventListener('change', setDarkness);
setDarkness();
void show();

async function show(): Promise<void> {
  const { name, title, url } = apis.find((api) => api.name === choice.value)!;
  documentLink.href = url;
  const description = await load(url).catch((error: unknown) => {
    page.textContent = `The description of “${title}” cannot be loaded from ${url}: ${error instanceof Error ? error.message : error}`;
  });
  if (!description || name !== choice.value) return;
  const ui = SwaggerUI({
    domNode: page,
    spec: description,
    docExpansion: Object.keys(description.paths).length > MOST_LISTED ? 'none' : 'list',
    defaultModelsExpandDepth: -1,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    // Swagger UI would otherwise send the document to a validator on another host.
    validatorUrl: null,
    plugins: [withLandmarks],
    onComplete: () => authorize(ui),
  });
}

/** Documents with more paths are shown as a list of tags, because rendering all operations would take seconds. */
const MOST_LISTED = 50;

interface Description {
  servers: { url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}
interface Operation {
  readonly parameters?: readonly { readonly schema?: { default?: unknown } }[];
}

/**
 * Loads an OpenAPI document. Names the server, whose URL is relative in the document, and removes the defaults of
 * parameters, because Swagger UI would send all of them. The descriptions contain them, too.
 */
async function load(url: string): Promise<Description> {
  const answer = await fetch(url, { referrerPolicy: 'no-referrer' });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  const description: Description = await answer.json();
  description.servers = [{ url: new URL(url, location.href).origin }];
  for (const operation of Object.values(description.paths).flatMap((methods) => Object.values(methods))) {
    for (const { schema } of operation.parameters ?? []) delete schema?.default;
  }
  return description;
}

/** Adds a heading between the title, which is an h1, and the tags, which are h3, and a landmark around the title. */
const withLandmarks: SwaggerUiPlugin = ({ React }) => ({
  wrapComponents: {
    InfoContainer: (Original) => (props) =>
      React.createElement('section', { 'aria-label': 'About this API' }, React.createElement(Original, props)),
    operations: (Original) => (props) =>
      React.createElement(
        'div',
        null,
        React.createElement('h2', null, 'Operations'),
        React.createElement(Original, props),
      ),
  },
});

interface SecurityScheme {
  readonly type?: string;
  readonly scheme?: string;
}

/** Fills in the key of the playground, which the browser keeps for this tab. */
function authorize(ui: ReturnType<typeof SwaggerUI>): void {
  const key = sessionStorage.getItem(KEY_STORE);
  if (!key) return;
  const described = ui.specSelectors.specJson().toJS() as {
    components?: { securitySchemes?: Readonly<Record<string, SecurityScheme>> };
  };
  for (const [name, { type, scheme }] of Object.entries(described.components?.securitySchemes ?? {})) {
    if (type === 'http' && scheme === 'bearer') ui.preauthorizeApiKey(name, key);
  }
}
