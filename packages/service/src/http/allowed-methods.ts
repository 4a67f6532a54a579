/** The methods that an address accepts, so that a wrong method is distinguished from a wrong address. */
import type { FastifyInstance } from 'fastify';

/** Watches routes as they are added; the returned function returns the methods of a path. */
export function allowedMethods(app: FastifyInstance): (path: string) => readonly string[] {
  const routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(/:[^/]+/g, '[^/]+')}$`);
    routes.push({ pattern, methods: typeof method === 'string' ? [method] : method });
  });
  return (path) => routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods);
}
