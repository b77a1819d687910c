// node ask.mjs ws://localhost:8081 "When may a cache answer?"
import { WebSocket } from 'ws';

const [url, question] = process.argv.slice(2);
const socket = new WebSocket(url, 'json');
socket.on('open', () => {
  socket.send(JSON.stringify({ execEndpoint: '/search', data: [{ text: question }], parameters: { limit: 3 } }));
});
socket.on('message', (answer) => {
  const [{ matches }] = JSON.parse(String(answer)).data;
  for (const { text, uri, tags } of matches ?? []) console.log(`${tags?.title ?? uri ?? ''}\n${text}\n`);
  // An empty object ends the stream. The gateway closes the connection after it has responded to all requests.
  socket.send('{}');
});
socket.on('error', ({ message }) => {
  console.error(message);
  process.exitCode = 1;
});
