/** The routes in docs/http.md, from the OpenAPI documents of both services. */
import { markdownTable } from './markdown.ts';
import { between } from './marks.ts';
import { authorityDocument, serverDocument } from './openapi.ts';

export const ROUTES_PAGE = 'docs/http.md';

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
  readonly required?: readonly string[];
}

interface Exchanged {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Route {
  readonly summary: string;
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: Exchanged;
  readonly responses: Readonly<Record<string, Exchanged>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Route>>>>;
}

/** The page with the routes of both services between its marks. */
export async function withRoutes(page: string): Promise<string> {
  const serverText = await serverDocument();
  const [authority, server] = [rowsOf(await authorityDocument()), rowsOf(serverText)];
  const same = (rows: readonly Row[], row: Row): boolean => rows.some((other) => other.join() === row.join());
  const tables = [
    ['Both services', authority.filter((row) => same(server, row))],
    ['Authority', authority.filter((row) => !same(server, row))],
    ['Server', server.filter((row) => !same(authority, row))],
  ] as const;
  const text = tables.map(([title, rows]) => `### ${title}\n\n${markdownTable(TITLES, rows)}`);
  return between(page, 'routes', [...text, '### Fields of a new task', specificationIn(serverText)].join('\n\n'));
}

const TITLES = ['route', 'purpose (caller)', 'body', 'answer'];
type Row = readonly string[];

function rowsOf(document: string): readonly Row[] {
  return Object.entries((JSON.parse(document) as Document).paths).flatMap(([path, routes]) =>
    Object.entries(routes).map(([method, route]) => [
      `\`${method.toUpperCase()} ${path}${queryOf(route)}\``,
      route.summary,
      exchangedIn(route.requestBody),
      exchangedIn(route.responses['200']),
    ]),
  );
}

/** What an operator may say of a task at a server. */
function specificationIn(document: string): string {
  const body = (JSON.parse(document) as Document).paths['/v1/tasks']?.['post']?.requestBody;
  const fields = Object.entries(body?.content?.['application/json']?.schema.properties ?? {});
  if (fields.length === 0) throw new Error('a server says nothing of new tasks');
  return markdownTable(
    ['field', 'meaning'],
    fields.map(([name, { description = '' }]) => [`\`${name}\``, description]),
  );
}

function queryOf({ parameters = [] }: Route): string {
  const names = parameters.filter((one) => one.in === 'query').map(({ name }) => `${name}=`);
  return names.length === 0 ? '' : `?${names.join('&')}`;
}

/** The name of a message of the wire format, or the first names in a JSON object; optional ones have a question mark. */
function exchangedIn(exchanged: Exchanged | undefined): string {
  const [schema] = Object.values(exchanged?.content ?? {}).map((content) => content.schema);
  if (schema?.properties === undefined) return schema?.description ?? '';
  const names = Object.keys(schema.properties).map((name) => (schema.required?.includes(name) ? name : `${name}?`));
  if (names.length === 0) return '';
  return `\`{ ${names.slice(0, MOST).join(', ')}${names.length > MOST ? ', …' : ''} }\``;
}

const MOST = 6;
