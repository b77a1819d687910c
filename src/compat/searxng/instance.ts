/** What `/config` says about this instance: the fields that clients and lists of instances read. */
import type { Native } from '../native/native.ts';

const CATEGORIES = ['general', 'images', 'news'];

export function instanceConfig({ parts: { search, version } }: Native): object {
  const engine = (name: string) => ({
    name,
    categories: CATEGORIES,
    shortcut: name.slice(0, 3),
    enabled: true,
    paging: true,
    language_support: true,
    languages: [],
    regions: [],
    safesearch: false,
    time_range_support: true,
    timeout: 4,
  });
  return {
    categories: CATEGORIES,
    engines: search.providers.map(engine),
    plugins: [],
    instance_name: 'Lectern',
    locales: { en: 'English' },
    default_locale: 'en',
    autocomplete: '',
    safe_search: 0,
    default_theme: 'simple',
    version,
    brand: { CONTACT_URL: null, DOCS_URL: '', GIT_BRANCH: '', GIT_URL: '' },
    limiter: {
      enabled: false,
      'botdetection.ip_limit.link_token': false,
      'botdetection.ip_lists.pass_searxng_org': false,
    },
    doi_resolvers: [],
    default_doi_resolver: '',
    public_instance: false,
  };
}
