/**
 * HTML of strangers as nodes that run nothing and load nothing: those of a template belong to a document without a window
 * (WHATWG HTML, section 4.12.3). Styles of single elements are renamed before, or the page's policy would complain of each.
 */
export function inertNodes(html: string): DocumentFragment {
  const template = document.createElement('template');
  template.innerHTML = html.replace(/<[a-z][^<>]*/gi, (tag) => tag.replace(/([\s"'/])style\s*=/gi, '$1data-style='));
  return template.content;
}
