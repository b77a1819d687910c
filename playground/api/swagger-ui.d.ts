/** The part of Swagger UI that the page uses. The package contains no types. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  interface SwaggerUiSystem {
    preauthorizeApiKey(scheme: string, key: string): void;
    readonly specSelectors: { specJson(): { toJS(): object } };
  }
  export default function SwaggerUI(options: Readonly<Record<string, unknown>>): SwaggerUiSystem;
}
