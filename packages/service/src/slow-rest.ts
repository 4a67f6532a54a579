/**
 * What is left of a refused body is read and thrown away, so that its sender hears the no and may ask again. Node's
 * time-out of requests ends with the answer: who then sends no more, or too slowly, is cut off here.
 */
import type { FastifyInstance } from 'fastify';

export function cutSlowRest(app: FastifyInstance, afterMs: number): void {
  app.addHook('onResponse', async ({ raw }) => {
    if (raw.complete || raw.destroyed) return;
    const timer = setTimeout(() => raw.socket.destroy(), afterMs).unref();
    raw.once('close', () => clearTimeout(timer));
  });
}
