/** The search field of the documentation; runs in the browser. */
import { type Found, type Index, openSearch, type Search } from './find.ts';

const form = document.querySelector<HTMLFormElement>('form.search')!;
const input = form.querySelector('input')!;
const list = form.querySelector('ul')!;
const menu = document.querySelector<HTMLDetailsElement>('details.menu');
form.hidden = false;
if (menu && matchMedia('(max-width: 60rem)').matches) menu.open = false;

let loading: Promise<Search> | undefined;
const load = () => {
  loading ??= fetch('/docs/search.json')
    .then((answer) => answer.json() as Promise<Index>)
    .then(openSearch);
  return loading;
};

let selected = -1;

function show(found: readonly Found[]): void {
  selected = -1;
  input.removeAttribute('aria-activedescendant');
  const query = input.value.trim();
  list.replaceChildren(...(found.length || !query ? found.map(itemOf) : [nothing(query)]));
  list.hidden = !query;
  input.setAttribute('aria-expanded', String(!list.hidden));
}

function itemOf({ url, title, page, text }: Found, at: number): HTMLLIElement {
  const item = document.createElement('li');
  item.role = 'none';
  const link = document.createElement('a');
  link.role = 'option';
  link.id = `found-${at}`;
  link.href = url;
  link.tabIndex = -1;
  for (const [name, content] of [
    ['strong', title],
    ['small', page],
    ['span', text],
  ] as const) {
    const part = document.createElement(name);
    part.textContent = content;
    link.append(part);
  }
  link.addEventListener('click', close);
  item.append(link);
  return item;
}

function nothing(query: string): HTMLLIElement {
  const item = document.createElement('li');
  item.className = 'nothing';
  item.role = 'option';
  item.ariaDisabled = 'true';
  item.textContent = `No results for “${query}”.`;
  return item;
}

function close(): void {
  list.hidden = true;
  input.setAttribute('aria-expanded', 'false');
}

function move(by: number): void {
  const items = [...list.querySelectorAll('a')];
  if (!items.length) return;
  items[selected]?.setAttribute('aria-selected', 'false');
  selected = (selected + by + items.length) % items.length;
  const item = items[selected]!;
  item.setAttribute('aria-selected', 'true');
  item.scrollIntoView({ block: 'nearest' });
  input.setAttribute('aria-activedescendant', item.id);
}

input.addEventListener('focus', () => void load());
input.addEventListener('input', async () => {
  const query = input.value;
  const search = await load();
  if (query === input.value) show(search(query));
});
input.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown') move(1);
  else if (event.key === 'ArrowUp') move(-1);
  else if (event.key === 'Escape') close();
  else return;
  event.preventDefault();
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  list.querySelectorAll<HTMLAnchorElement>('a')[Math.max(0, selected)]?.click();
});
document.addEventListener('click', (event) => {
  if (!form.contains(event.target as Node)) close();
});
document.addEventListener('keydown', (event) => {
  const { target } = event;
  const typing = target instanceof HTMLElement && /^(?:input|textarea|select)$/i.test(target.tagName);
  if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
});
