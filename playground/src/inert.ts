/**
 * Parses untrusted HTML into inert nodes. Template content belongs to a document without a window, so nothing in it is
 * executed or loaded (WHATWG HTML, section 4.12.3). `style` attributes are renamed first, because each of them would
 * cause a policy report.
 */
export function inertNodes(html: string): DocumentFragment {
  const template = document.createElement('template');
  template.innerHTML = html.replace(/<[a-z][^<>]*/gi, (tag) => tag.replace(/([\s"'/])style\s*=/gi, '$1data-style='));
  return template.content;
}
