{{- define "basa.own" -}}
{{ toYaml (index .Values .Values.role) }}
{{- end }}

{{- define "basa.name" -}}
{{ printf "%s-%s" .Release.Name .Values.role | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "basa.secret" -}}
{{ .Values.secret | default (include "basa.name" .) }}
{{- end }}

{{- define "basa.labels" -}}
app.kubernetes.io/name: basa
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: {{ .Values.role }}
{{- end }}

{{- /* The settings as variables: text as it is, everything else as JSON. */}}
{{- define "basa.environment" -}}
{{- range $key, $value := (include "basa.own" . | fromYaml).settings }}
{{- if not (kindIs "invalid" $value) }}
BASA_{{ upper $.Values.role }}_{{ regexReplaceAll "([A-Z])" $key "_${1}" | upper }}: {{ kindIs "string" $value | ternary $value (toJson $value) | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "basa.image" -}}
image: {{ .Values.image.repository }}{{ with .Values.image.tag }}:{{ . }}{{ end }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
{{- end }}

{{- define "basa.pod" -}}
automountServiceAccountToken: false
securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000, seccompProfile: { type: RuntimeDefault } }
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toJson . }}
{{- end }}
volumes:
  - { name: secrets, secret: { secretName: {{ include "basa.secret" . }}, defaultMode: 0440 } }
  - { name: tmp, emptyDir: {} }
{{- end }}
