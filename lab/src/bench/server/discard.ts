/** The alternative that the upload benchmark compares with: a node:http server that reads and discards every byte. Runs as a separate process. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => response.end('{"received":1,"accepted":true}'));
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`discard: listening at http://127.0.0.1:${port}/\n`);
});
