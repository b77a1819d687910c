# Calls each API through OpenAPI::Client, which generates its methods from the document and validates requests.
# Also validates the responses. Prints the results as JSON.
use strict;
use warnings;
use Mojo::JSON qw(decode_json encode_json);
use OpenAPI::Client;

my $setting = decode_json($ARGV[0]);
my %calls = (
  reader => [
    [reader_post_root => {}, {html => '<h1>Tides</h1>', retainImages => 'none'}],
    [reader_post_root => {}, {html => '<h1>Tides</h1>', engine => 'direct', tokenBudget => 1}],
    [reader_post_root => {}, {html => '<h1>Tides</h1>', retainImages => 'some'}],
    [crawl_list => {limit => 5}],
    [crawl_list => {limit => 0}],
  ],
  search => [[search_get => {q => 'tides', num => 1}], [search_get => {q => 'tides', num => 99}]],
  models => [
    [embeddings_v1_embeddings_post => {}, {model => 'lectern-static-v2', input => ['a'], dimensions => 64}],
    [embeddings_v1_embeddings_post => {}, {model => 'none', input => 'a'}],
    [embeddings_v1_embeddings_post => {}, {input => 'a'}],
    [list_models_v1_models_get => {}],
    [get_model_v1_models__model_id__get => {model_id => 'none'}],
  ],
  flow => [[post_index => {}, {data => [{id => 'a', uri => 'data:,b'}]}], [get_dry_run => {}], [get_root => {}]],
  admin => [[listPlans => {}], [listAccounts => {limit => 0}], [getAccount => {id => 'none'}]],
);

my %result;
for my $face (sort keys %calls) {
  my $url = $setting->{urls}{$face};
  my $client = OpenAPI::Client->new("$setting->{folder}/$face.json");
  $client->base_url(Mojo::URL->new($url));
  my $token = $face eq 'admin' ? $setting->{secret} : $setting->{key};
  $client->ua->on(start => sub {
    my ($ua, $tx) = @_;
    $tx->req->headers->accept('application/json');
    $tx->req->headers->authorization("Bearer $token") unless $face eq 'flow';
  });
  my %paths = map { ($_->{operation_id} => $_) } @{$client->validator->routes};
  for my $call (@{$calls{$face}}) {
    my ($id, $parameters, $body) = @$call;
    my $tx = $client->call($id => $parameters, $body ? (json => $body) : ());
    # A request that does not match the document is not sent.
    my $sent = $tx->req->url->host && !(ref $tx->res->json eq 'HASH' && $tx->res->json->{errors} && $tx->res->json->{errors}[0]{path});
    my ($method, $path) = @{$paths{$id}}{qw(method path)};
    my @errors = $sent ? $client->validator->validate_response(
      [$method, $path, $tx->res->code],
      {body => sub { return {exists => 1, value => $tx->res->json, content_type => 'application/json'} }, header => sub { return {} }},
    ) : ();
    push @{$result{$face}}, [$id, $sent ? 0 + $tx->res->code : 'not sent', map {"$_"} @errors];
  }
}
print encode_json(\%result), "\n";
