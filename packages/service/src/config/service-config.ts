/** The configuration of a service: the keys of both services with its own, the options that they set, and their risks. */
import type { TObject } from 'typebox';
import { type CommonConfig, commonOptions } from './common-config.ts';
import { type ConfigSources, type GatheredConfig, gatherConfig } from './config.ts';
import { commonRisks, sharedTokenRisk } from './config-risks.ts';

/** The sources of the configuration. */
export type ConfigPlaces = Omit<ConfigSources, 'prefix'>;

export interface CheckedConfig<Config> extends GatheredConfig<Config> {
  readonly risks: readonly string[];
}

interface Own<Config, Options> {
  readonly schema: TObject;
  readonly prefix: string;
  optionsOf(config: Config): Options;
  /** The risks of its own keys, in sentences, and the files that only their owner should read, by key. */
  risksOf(
    config: Config,
    options: Options,
  ): {
    readonly risks: readonly (string | false | undefined)[];
    readonly secretFiles: Readonly<Record<string, string | undefined>>;
  };
}

/** Its functions throw a `StartError` that names the key. */
export interface ServiceConfig<Config, Options> {
  gather(places: ConfigPlaces): Config;
  read(places: ConfigPlaces): Options & ReturnType<typeof commonOptions>;
  /** The values in force, their sources and their risks. */
  check(places: ConfigPlaces): CheckedConfig<Config>;
}

export function serviceConfig<Config extends CommonConfig, Options extends object>({
  schema,
  prefix,
  optionsOf,
  risksOf,
}: Own<Config, Options>): ServiceConfig<Config, Options> {
  const gathered = (places: ConfigPlaces) => gatherConfig(schema, { ...places, prefix }) as GatheredConfig<Config>;
  const read = (config: Config) => ({ ...commonOptions(config), ...optionsOf(config) });
  return {
    gather: (places) => gathered(places).config,
    read: (places) => read(gathered(places).config),
    check(places) {
      const found = gathered(places);
      const { risks, secretFiles } = risksOf(found.config, read(found.config));
      const all = [...commonRisks(found, secretFiles), ...risks, sharedTokenRisk(places)];
      return { ...found, risks: all.filter((risk) => typeof risk === 'string') };
    },
  };
}
