// Sends the requests of the forms on the page to the gateway that serves it, and shows the answers.
const MAX_SHOWN_LENGTH = 200_000;

/** Indents JSON; any other text stays as it is. */
function readable(text) {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    // Not JSON.
  }
  if (shown.length <= MAX_SHOWN_LENGTH) return shown;
  return `${shown.slice(0, MAX_SHOWN_LENGTH)}\n… ${shown.length - MAX_SHOWN_LENGTH} more characters`;
}

function requestOf(form) {
  const { method, path } = form.dataset;
  const { mode, body } = form.elements;
  const token = document.querySelector('#token')?.value.trim();
  // Relative to the page, which may be behind a prefix.
  const url = new URL(`.${path.replace('{mode}', encodeURIComponent(mode?.value ?? ''))}`, location.href);
  return {
    url,
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token}` }),
    },
    ...(body && { body: body.value }),
  };
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The same request for a shell. The token is left out. */
function commandOf({ url, method, body }) {
  const parts = ['curl', ...(method === 'GET' ? [] : ['-X', method]), quoted(url.href)];
  if (body !== undefined) parts.push('-H', quoted('Content-Type: application/json'), '-d', quoted(body));
  return parts.join(' ');
}

async function send(form) {
  const { url, ...request } = requestOf(form);
  const [button, result] = [form.querySelector('button'), form.querySelector('.result')];
  const [command, status, answer] = ['.command', '.status', '.answer'].map((name) => result.querySelector(name));
  result.hidden = false;
  command.textContent = commandOf({ url, ...request });
  status.textContent = 'Sending…';
  answer.textContent = '';
  button.disabled = true;
  const startedAt = performance.now();
  try {
    const response = await fetch(url, request);
    const text = await response.text();
    status.textContent = `HTTP ${response.status} in ${Math.round(performance.now() - startedAt)} ms`;
    answer.textContent = readable(text);
  } catch (error) {
    status.textContent = `No answer: ${error.message}`;
  } finally {
    button.disabled = false;
  }
}

for (const form of document.querySelectorAll('form')) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(form);
  });
}
