/** Every route of both services, from their OpenAPI documents. */
import { markdownPage, markdownTable } from './markdown.ts';
import { authorityDocument, serverDocument } from './openapi.ts';

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
  readonly description?: string;
}

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}

interface Route {
  readonly summary?: string;
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

const SERVICES = { authority: authorityDocument, server: serverDocument } as const;

export async function httpPage(): Promise<string> {
  return markdownPage(
    '# Routes',
    'How requests are signed, how uploads go on after a cut, and what a task specification holds: [the services over HTTP](../http.md). Bodies named by a layout are in the [wire format](../wire-format.md). Every route may answer with a problem document ([refusals](refusals.md)).',
    ...(await Promise.all(Object.entries(SERVICES).map(serviceSection))),
  );
}

async function serviceSection([name, document]: readonly [string, () => Promise<string>]): Promise<string> {
  const { paths } = JSON.parse(await document()) as { paths: Record<string, Record<string, Route>> };
  const rows = Object.entries(paths).flatMap(([target, methods]) =>
    Object.entries(methods).map(([method, route]) => [
      `\`${method.toUpperCase()} ${target}\``,
      route.summary ?? '',
      bodyOf(route.requestBody),
      bodyOf(route.responses['200']),
    ]),
  );
  return `## Of the ${name}\n\n${markdownTable(['route', 'what it does', 'takes', 'gives'], rows)}`;
}

function bodyOf(body: Content | undefined): string {
  const [type = '', { schema = {} } = {}] = Object.entries(body?.content ?? {})[0] ?? [];
  if (type === '') return '';
  if (schema.properties === undefined) return body?.description ?? schema.description ?? `\`${type}\``;
  const { properties, required = [] } = schema;
  return `JSON \`{ ${Object.keys(properties)
    .map((key) => (required.includes(key) ? key : `${key}?`))
    .join(', ')} }\``;
}
