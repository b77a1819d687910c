/** The part of Swagger UI that the page uses. The package contains no types. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  type Component = (props: object) => unknown;
  interface SwaggerUiSystem {
    preauthorizeApiKey(scheme: string, key: string): void;
    readonly specSelectors: { specJson(): { toJS(): object } };
    readonly React: { createElement(type: string | Component, props: object | null, ...children: unknown[]): unknown };
  }
  export type SwaggerUiPlugin = (system: SwaggerUiSystem) => {
    readonly wrapComponents: Readonly<Record<string, (original: Component) => Component>>;
  };
  export default function SwaggerUI(options: Readonly<Record<string, unknown>>): SwaggerUiSystem;
}
