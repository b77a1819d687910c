/**
 * The interactive description of the APIs: Swagger UI over the OpenAPI document of the chosen API. The page loads nothing
 * from other hosts than those of this server.
 */
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
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
  show();
});
const darkness = matchMedia('(prefers-color-scheme: dark)');
const setDarkness = () => document.documentElement.classList.toggle('dark-mode', darkness.matches);
darkness.addEventListener('change', setDarkness);
setDarkness();
show();

function show(): void {
  const { url } = apis.find(({ name }) => name === choice.value)!;
  documentLink.href = url;
  const ui = SwaggerUI({
    domNode: page,
    url,
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: -1,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    // Swagger UI would otherwise send the document to a validator on another host.
    validatorUrl: null,
    onComplete: () => authorize(ui),
  });
}

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
