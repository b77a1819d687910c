{{/* The names and labels of a component: (dict "root" $ "component" "server"). */}}
{{- define "lectern.name" -}}
{{- printf "%s-%s" (.root.Release.Name | trunc 40 | trimSuffix "-") .component -}}
{{- end }}

{{- define "lectern.selector" -}}
app.kubernetes.io/name: lectern
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "lectern.labels" -}}
{{ include "lectern.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{/* The environment variable of a setting: cacheMaxBytes is LECTERN_CACHE_MAX_BYTES. */}}
{{- define "lectern.variable" -}}
{{- printf "LECTERN_%s" (regexReplaceAll "([A-Z])" . "_${1}" | upper) -}}
{{- end }}

{{/*
The value of a setting as text. Lists and objects are JSON, as the server expects them. Helm reads an unquoted on or off as
true or false.
*/}}
{{- define "lectern.text" -}}
{{- if or (kindIs "slice" .) (kindIs "map" .) }}{{ toJson . }}{{ else if kindIs "bool" . }}{{ ternary "on" "off" . }}{{ else if and (kindIs "float64" .) (eq . (floor .)) }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- end }}

{{/*
The environment of a container: (dict "root" $ "component" … "settings" …). The settings of a component override those of all
pods.
*/}}
{{- define "lectern.environment" -}}
{{- $own := dict "metricsHost" "0.0.0.0" "metricsPort" .root.Values.metricsPort -}}
{{- if and .root.Values.browsers.enabled (ne .component "browsers") }}
{{- $urls := list }}
{{- $name := include "lectern.name" (dict "root" .root "component" "browsers") }}
{{- range $at := until (int .root.Values.browsers.replicas) }}
{{- $urls = append $urls (printf "http://%s-%d.%s:3007" $name $at $name) }}
{{- end }}
{{- $_ := set $own "browserUrl" (join "," $urls) }}
# The browsers reach the egress proxy of each pod at its own IP address.
- name: LECTERN_EGRESS_PROXY_HOST
  valueFrom:
    fieldRef:
      fieldPath: status.podIP
{{- end }}
{{- range $name, $value := merge (dict) .settings .root.Values.settings $own }}
- name: {{ include "lectern.variable" $name }}
  value: {{ include "lectern.text" $value | quote }}
{{- end }}
{{- range $name, $reference := .root.Values.secrets }}
{{- if $reference }}
- name: {{ include "lectern.variable" $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $reference.name }}
      key: {{ $reference.key }}
{{- end }}
{{- end }}
# The home folder of the image is read-only.
- name: HOME
  value: /tmp
{{- end }}

{{/* What all pods have in common: (dict "root" $ "component" "server" "nodeSelector" … "tolerations" …). */}}
{{- define "lectern.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
# Longer than the delay and the time to drain, so that requests in flight can finish.
terminationGracePeriodSeconds: {{ add (div (add .root.Values.settings.drainMs .root.Values.settings.drainDelayMs) 1000) 10 }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "lectern.selector" . | nindent 8 }}
volumes:
  # Copies of pages and models. They may be lost.
  - name: data
    emptyDir:
      sizeLimit: {{ .root.Values.data.sizeLimit }}
  - name: temporary
    emptyDir:
      sizeLimit: {{ .root.Values.temporary.sizeLimit }}
  # Chromium needs more shared memory than the default of 64 MB.
  - name: shared-memory
    emptyDir:
      medium: Memory
      sizeLimit: {{ .root.Values.sharedMemory.sizeLimit }}
{{- end }}

{{- define "lectern.container" -}}
image: {{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: data
    mountPath: /data
  - name: temporary
    mountPath: /tmp
  - name: shared-memory
    mountPath: /dev/shm
{{- end }}

{{/* An autoscaler: (dict "root" $ "component" … "kind" … "autoscaling" …). */}}
{{- define "lectern.autoscaler" -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ include "lectern.name" . }}
  labels:
    {{- include "lectern.labels" . | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ include "lectern.name" . }}
  minReplicas: {{ .autoscaling.minReplicas }}
  maxReplicas: {{ .autoscaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: {{ .autoscaling.cpuPercent }}
    {{- with .autoscaling.queue }}
    {{- if .enabled }}
    {{- if .labels }}
    # The same number in every pod, because the jobs are in the shared store.
    - type: External
      external:
        metric:
          name: {{ .metric }}
          selector:
            matchLabels:
              {{- toYaml .labels | nindent 14 }}
        target:
          type: AverageValue
          averageValue: {{ .averageValue | quote }}
    {{- else }}
    - type: Pods
      pods:
        metric:
          name: {{ .metric }}
        target:
          type: AverageValue
          averageValue: {{ .averageValue | quote }}
    {{- end }}
    {{- end }}
    {{- end }}
  behavior:
    scaleDown:
      # A new pod starts with an empty cache, so pods stay for a while.
      stabilizationWindowSeconds: 300
{{- end }}

{{- define "lectern.disruption" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "lectern.name" . }}
  labels:
    {{- include "lectern.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "lectern.selector" . | nindent 6 }}
{{- end }}

{{/* The port of the egress proxy, for the browsers in other pods. */}}
{{- define "lectern.egressPort" -}}
{{- if .Values.browsers.enabled }}
- name: egress
  containerPort: 3008
{{- end }}
{{- end }}

{{/* The pods that read pages: servers and workers. */}}
{{- define "lectern.readers" -}}
- podSelector:
    matchLabels:
      app.kubernetes.io/name: lectern
      app.kubernetes.io/instance: {{ .Release.Name }}
    matchExpressions:
      - key: app.kubernetes.io/component
        operator: NotIn
        values: [browsers]
{{- end }}
