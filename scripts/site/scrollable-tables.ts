/** Lets the keyboard scroll a table that is wider than the page; runs in the browser. */
const observer = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute('tabindex', '0');
    else target.removeAttribute('tabindex');
  }
});

for (const table of document.querySelectorAll('table')) observer.observe(table);
