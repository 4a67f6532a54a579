/** The alternative that the bench of the server compares with: a node:http server that reads and discards every byte, in a process of its own. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => response.end('{"received":1,"accepted":true}'));
});
process.on('message', () => {
  server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
});
process.once('disconnect', () => process.exit());
