/** The schema of the chart's values: Helm checks them against it. The settings of a service are its configuration without secrets. */
import { authorityConfigSchema } from '@basa/authority/internal/process/config.ts';
import { serverConfigSchema } from '@basa/server/internal/process/config.ts';
import { closed, readConfig, Type } from '@basa/service';

interface Schema {
  readonly properties: Readonly<Record<string, Type.TSchema>>;
}
interface Key {
  readonly description?: string;
  readonly default?: unknown;
  readonly 'x-secret'?: boolean;
}

/** Anyone who may read the ConfigMaps of a cluster could read a secret in one, so only the file of a secret is a setting. */
function settings({ properties }: Schema) {
  const keys = Object.entries(properties).map(([key, property]) => {
    const { default: _, ...schema }: Key = property;
    if (schema['x-secret'] === true)
      return [`${key}File`, Type.Optional(Type.String({ description: `file with ${key}: ${schema.description}` }))];
    return [key, key === 'port' ? schema : Type.Optional(schema)];
  });
  return Type.Object(Object.fromEntries(keys), closed);
}

const resources = Type.Optional(Type.Object({}));
const count = Type.Integer({ minimum: 1 });

const text = Type.String();
const name = Type.String({ minLength: 1 });
const words = (...all: readonly string[]) => Type.Union(all.map((word) => Type.Literal(word)));

const valuesSchema = Type.Object(
  {
    role: words('server', 'authority'),
    image: Type.Object({ repository: name, tag: text, pullPolicy: words('Always', 'IfNotPresent', 'Never') }, closed),
    imagePullSecrets: Type.Array(Type.Object({ name }, closed)),
    secret: text,
    server: Type.Object(
      { replicas: count, minAvailable: count, resources, settings: settings(serverConfigSchema) },
      closed,
    ),
    authority: Type.Object({ resources, settings: settings(authorityConfigSchema) }, closed),
    data: Type.Object({ size: name, storageClass: text }, closed),
    nodeSelector: Type.Record(Type.String(), text),
    tolerations: Type.Array(Type.Object({})),
    affinity: Type.Object({}),
    plain: Type.Boolean(),
    global: Type.Optional(Type.Object({})),
  },
  { ...closed, $schema: 'http://json-schema.org/draft-07/schema#' },
);

/** The text of values.schema.json. */
export function schemaText(): string {
  return `${JSON.stringify(valuesSchema, null, 1)}\n`;
}

/** Throws a sentence that names the key. */
export function checkValues(values: Readonly<Record<string, unknown>>): void {
  readConfig(valuesSchema, { environment: {}, prefix: '', overrides: values });
}
